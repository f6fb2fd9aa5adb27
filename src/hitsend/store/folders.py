"""Folders: names a person gives to groups of conversations."""

from uuid import uuid4

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from hitsend.errors import Conflict, NotFound
from hitsend.store.database import Database, reads, writes
from hitsend.store.rows import Folder
from hitsend.store.schema import conversations, folders

MAX_FOLDERS = 200
"""Per person, because the list of folders is not paged."""

IS_LISTED_IN_FOLDER = and_(
    conversations.c.folder_id == folders.c.id,
    conversations.c.hidden_at.is_(None),
    conversations.c.is_temporary.is_(False),
)

FOLDER_COLUMNS = select(
    folders.c.id,
    folders.c.name,
    select(func.count()).select_from(conversations).where(IS_LISTED_IN_FOLDER).scalar_subquery(),
)


class Folders:
    def __init__(self, database: Database) -> None:
        self._database = database

    @reads
    def list(self, connection: Connection, user_id: str) -> list[Folder]:
        """Sorted by name, ignoring case."""
        query = FOLDER_COLUMNS.where(folders.c.user_id == user_id).order_by(folders.c.created_at)
        found = [Folder(*row) for row in connection.execute(query)]
        return sorted(found, key=lambda folder: folder.name.casefold())

    @writes
    def create(self, connection: Connection, user_id: str, name: str) -> Folder:
        folder = Folder(str(uuid4()), name, 0)
        count = select(func.count()).select_from(folders).where(folders.c.user_id == user_id)
        if (connection.scalar(count) or 0) >= MAX_FOLDERS:
            raise Conflict(f"You have {MAX_FOLDERS} folders, the most there can be.")
        connection.execute(
            insert(folders).values(
                id=folder.id, user_id=user_id, name=name, created_at=self._database.now()
            )
        )
        return folder

    @writes
    def rename(self, connection: Connection, folder_id: str, user_id: str, name: str) -> Folder:
        is_it = folders.c.id == folder_id, folders.c.user_id == user_id
        connection.execute(update(folders).where(*is_it).values(name=name))
        row = connection.execute(FOLDER_COLUMNS.where(*is_it)).one_or_none()
        if row is None:
            raise folder_not_found()
        return Folder(*row)

    @writes
    def delete(self, connection: Connection, folder_id: str, user_id: str) -> None:
        """Keeps its conversations, in no folder."""
        is_it = folders.c.id == folder_id, folders.c.user_id == user_id
        if connection.execute(delete(folders).where(*is_it)).rowcount == 0:
            raise folder_not_found()


def check_folder(connection: Connection, folder_id: str, user_id: str) -> None:
    query = select(folders.c.id).where(folders.c.id == folder_id, folders.c.user_id == user_id)
    if connection.scalar(query) is None:
        raise folder_not_found()


def folder_not_found() -> NotFound:
    return NotFound("There is no such folder.", param="folder_id")
