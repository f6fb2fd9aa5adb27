"""Folders: names a person gives to groups of conversations."""

from uuid import uuid4

from sqlalchemy import and_, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hitsend.errors import Conflict, NotFound
from hitsend.store.database import Database
from hitsend.store.rows import Folder
from hitsend.store.schema import conversations, folders

MOST_FOLDERS = 200
"""A person may have. Their list is never paged."""

IS_IN_IT = and_(
    conversations.c.folder_id == folders.c.id,
    conversations.c.hidden_at.is_(None),
    conversations.c.is_temporary.is_(False),
)

FOLDER = select(
    folders.c.id,
    folders.c.name,
    select(func.count()).select_from(conversations).where(IS_IN_IT).scalar_subquery(),
)


class Folders:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, user_id: str) -> list[Folder]:
        """By name, as people order names: large and small letters are alike."""
        theirs = FOLDER.where(folders.c.user_id == user_id).order_by(folders.c.created_at)
        async with self._database.read() as connection:
            found = [Folder(*row) for row in await connection.execute(theirs)]
        return sorted(found, key=lambda folder: folder.name.casefold())

    async def create(self, user_id: str, name: str) -> Folder:
        folder = Folder(str(uuid4()), name, 0)
        had = select(func.count()).select_from(folders).where(folders.c.user_id == user_id)
        async with self._database.write() as connection:
            if (await connection.scalar(had) or 0) >= MOST_FOLDERS:
                raise Conflict(f"You have {MOST_FOLDERS} folders, the most there can be.")
            await connection.execute(
                insert(folders).values(
                    id=folder.id, user_id=user_id, name=name, created_at=self._database.now()
                )
            )
        return folder

    async def rename(self, folder_id: str, user_id: str, name: str) -> Folder:
        theirs = folders.c.id == folder_id, folders.c.user_id == user_id
        async with self._database.write() as connection:
            await connection.execute(update(folders).where(*theirs).values(name=name))
            row = (await connection.execute(FOLDER.where(*theirs))).one_or_none()
        if row is None:
            raise no_folder()
        return Folder(*row)

    async def delete(self, folder_id: str, user_id: str) -> None:
        """Its conversations stay, in no folder."""
        theirs = folders.c.id == folder_id, folders.c.user_id == user_id
        async with self._database.write() as connection:
            if (await connection.execute(delete(folders).where(*theirs))).rowcount == 0:
                raise no_folder()


async def check_folder(connection: AsyncConnection, folder_id: str, user_id: str) -> None:
    theirs = select(folders.c.id).where(folders.c.id == folder_id, folders.c.user_id == user_id)
    if await connection.scalar(theirs) is None:
        raise no_folder()


def no_folder() -> NotFound:
    return NotFound("There is no such folder.", param="folder_id")
