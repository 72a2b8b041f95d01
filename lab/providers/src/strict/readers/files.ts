import { partOf, textOf, type Members, type Part, type Path, type Place } from '../view.ts';

/** The name of a document, and what the file shows: `image`, `document`, `audio` or `video`. */
interface FileFacts {
  readonly kind: string;
  readonly name?: Place | undefined;
  readonly media?: Place | undefined;
}

const DATA_URL = /^data:(?<media>[^;,]*)[^,]*,(?<data>[^]*)$/;

/** A file whose bytes stand as base64 at `data`. */
export function inlineFile(path: Path, raw: Members, facts: FileFacts, data: Place): Part {
  return fileOf(path, raw, facts, { data });
}

/** A file at an address. A `data:` address is taken apart when the protocol has addresses for bytes too. */
export function linkedFile(path: Path, raw: Members, facts: FileFacts, url: Place): Part {
  const data = DATA_URL.exec(textOf(url.value))?.groups;
  if (!data) return fileOf(path, raw, facts, { url });
  const media = { path: url.path, value: data['media'] };
  return fileOf(path, raw, { ...facts, media }, { data: { path: url.path, value: data['data'] } });
}

function fileOf(
  path: Path,
  raw: Members,
  { kind, name, media }: FileFacts,
  at: Readonly<Record<string, Place>>,
): Part {
  const part = partOf('file', path, raw);
  return {
    ...part,
    at: { ...at, kind: { path, value: kind }, ...(name && { name }), ...(media && { media }) },
  };
}

/** The kind of a file of this media type. */
export function kindOf(mediaType: unknown): string {
  const [top = ''] = textOf(mediaType).split('/');
  return ['image', 'audio', 'video'].includes(top) ? top : 'document';
}
