/** The import waits for the first request, so that the build opens no database. */
const serve = async (request: Request) => (await import('../../../../server.ts')).chats(request);
export { serve as DELETE, serve as GET, serve as POST };
