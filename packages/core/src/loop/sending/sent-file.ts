import type { FilePart, TextPart } from '../../state/messages/messages.ts';
import type { FileForm, RequestForm } from '../inference/request-form.ts';
import { isBlank, textPart } from './text-part.ts';

/** The media types that a provider takes, by the place of a file. `undefined`: all. */
export type FileTypes = Readonly<Record<keyof FileForm, RegExp | undefined>>;

/** The types of a place where a provider takes no files. */
export const NO_FILES = /^\b$/;

/** Returns the media types that a provider takes. */
export function fileTypes({ files }: RequestForm): FileTypes {
  const matching = (...patterns: readonly (string | undefined)[]) => {
    if (files === undefined) return undefined;
    const given = patterns.filter((pattern) => pattern !== undefined);
    return given.length === 0 ? NO_FILES : new RegExp(given.join('|'));
  };
  return {
    user: matching(files?.user),
    userUrl: matching(files?.user, files?.userUrl),
    answer: matching(files?.answer),
    result: matching(files?.result),
  };
}

/**
 * Returns the part when the provider takes its type and can read its data, the part with corrected data, the text of a text
 * file, or a text that says what is missing. `types`: the media types that the provider takes; `undefined`: all.
 */
export function sentFile(part: FilePart, types: RegExp | undefined): FilePart | TextPart {
  const readable = readableFile(part, types !== undefined);
  if (readable === undefined) return missing(part, 'cannot be read');
  if (types === undefined || types.test(typeOf(readable))) return readable;
  const text = textOf(readable);
  if (text === undefined) return missing(part, 'cannot be shown to this model');
  return textPart(`[The file ${nameOf(part)}:]\n${isBlank(text) ? '(empty)' : text}`);
}

function missing(part: FilePart, reason: string): TextPart {
  return textPart(`[The file ${nameOf(part)} ${reason}.]`);
}

function nameOf({ filename, mediaType }: FilePart): string {
  return filename ?? mediaType;
}

/** The text of a file of text; `undefined` for other files. */
function textOf({ data, mediaType }: FilePart): string | undefined {
  if (data.type === 'text') return data.text;
  if (data.type !== 'data' || !mediaType.startsWith('text/')) return undefined;
  return new TextDecoder().decode(Uint8Array.from(atob(data.data), (byte) => byte.charCodeAt(0)));
}

/** The pictures that most providers take, by the beginning of their base64. */
const PICTURES: readonly (readonly [mediaType: string, start: RegExp])[] = [
  ['image/png', /^iVBORw0KGg/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  ['image/webp', /^UklGR.{10}V0VCU/],
];

/** The media type that a driver sends: of a picture the type of its bytes. */
function typeOf({ data, mediaType }: FilePart): string {
  if (data.type === 'text') return 'text/plain';
  return (data.type === 'data' ? pictureType(data.data) : undefined) ?? mediaType;
}

function pictureType(base64: string): string | undefined {
  return PICTURES.find(([, start]) => start.test(base64))?.[0];
}

/** Returns the part with data that a provider can read; `undefined` for data that no provider can read. `checksBytes`: a picture is one. */
function readableFile(part: FilePart, checksBytes: boolean): FilePart | undefined {
  const { data } = part;
  if (data.type === 'data') return withData(part, data.data, checksBytes);
  if (data.type !== 'url') return part;
  if (/^data:[^,]*;base64,/i.test(data.url)) return withData(part, data.url, checksBytes);
  return URL.canParse(data.url) && isDecodable(data.url) ? part : undefined;
}

function withData(part: FilePart, given: string, checksBytes: boolean): FilePart | undefined {
  const corrected = correctedData(given);
  if (corrected === undefined) return undefined;
  const { data, mediaType = part.mediaType } = corrected;
  const isNamed = PICTURES.some(([named]) => named === mediaType);
  if (checksBytes && isNamed && pictureType(data) === undefined) return undefined;
  if (data === given && mediaType === part.mediaType) return part;
  return Object.freeze({ ...part, mediaType, data: Object.freeze({ type: 'data', data }) });
}

/** True unless the URL is itself the data, with a broken escape. */
function isDecodable(url: string): boolean {
  if (!url.startsWith('data:')) return true;
  try {
    decodeURIComponent(url.slice(url.indexOf(',') + 1));
    return true;
  } catch {
    return false;
  }
}

interface CorrectedData {
  readonly data: string;
  readonly mediaType?: string;
}

/** Reads base64, also with white space, with the alphabet of URLs, without padding, or inside a data: URL. */
function correctedData(given: string): CorrectedData | undefined {
  if (isBase64(given)) return { data: given };
  const isUrl = given.startsWith('data:') && given.includes(',');
  const comma = isUrl ? given.indexOf(',') : -1;
  const mediaType = isUrl ? given.slice('data:'.length, comma).split(';')[0] : '';
  const text = given
    .slice(comma + 1)
    .replaceAll(/[\s=]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const data = text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  if (!isBase64(data)) return undefined;
  return mediaType ? { data, mediaType } : { data };
}

/** True for base64 with its padding. Checks the end by a pattern, and the rest for other characters. */
function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const end = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length;
  return !/[^A-Za-z0-9+/]/.test(text.slice(0, end));
}
