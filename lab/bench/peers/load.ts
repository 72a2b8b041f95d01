/** Imports a package that is installed in this folder. Its type is what the caller declares to use of it. */
export async function load<Members>(specifier: string): Promise<Members> {
  const members: unknown = await import(specifier);
  return members as Members;
}
