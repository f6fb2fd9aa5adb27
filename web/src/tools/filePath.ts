/** The address of a file that a tool made. The browser opens it by itself, with the session's cookie. */
export function getFilePath(fileId: string): string {
	return `/backend-api/files/${encodeURIComponent(fileId)}/content`;
}
