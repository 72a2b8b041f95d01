/** The id of an entry in a stream. `publish-entries.lua` explains it. */
export interface EntryId {
  readonly generation: number;
  readonly number: number;
}

/** Reads an id, such as `1800000000000000-17`. */
export function readEntryId(text: string): EntryId {
  const [generation, number] = text.split('-');
  return { generation: Number(generation), number: Number(number) };
}

export function writeEntryId({ generation, number }: EntryId): string {
  return `${generation}-${number}`;
}

/** True when no entry is between the two. Without `before`, only the first entry of a tail is next. */
export function isNextEntry(before: EntryId | undefined, id: EntryId): boolean {
  if (before === undefined) return id.number === 0;
  return id.generation === before.generation && id.number === before.number + 1;
}

/** True when an entry was published after another. */
export function isLaterEntry(id: EntryId, before: EntryId | undefined): boolean {
  if (before === undefined) return true;
  return (id.generation - before.generation || id.number - before.number) > 0;
}
