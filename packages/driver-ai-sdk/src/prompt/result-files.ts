import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { callDemandsOf } from '../forms/form-of.ts';
import type { CalledModel } from '../values/called-model.ts';

type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
type ResultContent = Extract<LanguageModelV4ToolResultPart['output'], { type: 'content' }>['value'][number];
type ResultFile = Extract<ResultContent, { type: 'file' }>;

/**
 * Returns a prompt whose results have no files, for a provider that would send them as text. A note stands in the place of
 * each file. Pictures follow in a message of the user, where the model can read them. `filePlaces`: see `Prompt`.
 */
export function withoutResultFiles(
  prompt: LanguageModelV4Prompt,
  filePlaces: readonly number[],
  model: CalledModel,
): LanguageModelV4Prompt {
  if (!filePlaces.some((place) => hasFiles(prompt[place]))) return prompt;
  const { resultFiles = 'asFiles' } = callDemandsOf(model);
  if (resultFiles === 'asFiles') return prompt;
  const shows = resultFiles === 'afterResults';
  return prompt.flatMap((message) => (hasFiles(message) ? withNotes(message, shows) : [message]));
}

function hasFiles(message: LanguageModelV4Message | undefined): message is ToolMessage {
  return message?.role === 'tool' && message.content.some((part) => filesOf(part).length > 0);
}

function filesOf(part: ToolMessage['content'][number]): readonly ResultFile[] {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return [];
  return part.output.value.filter((each) => each.type === 'file');
}

function withNotes(message: ToolMessage, shows: boolean): LanguageModelV4Message[] {
  const content = message.content.map((part) =>
    part.type === 'tool-result' && part.output.type === 'content'
      ? { ...part, output: { ...part.output, value: part.output.value.map((each) => noted(each, shows)) } }
      : part,
  );
  const pictures = message.content.flatMap(filesOf).filter((file) => isShown(file, shows));
  const told: LanguageModelV4Message = { ...message, content };
  return pictures.length === 0 ? [told] : [told, { role: 'user', content: pictures.map(pictureOf) }];
}

function noted(part: ResultContent, shows: boolean): ResultContent {
  if (part.type !== 'file') return part;
  const name = part.filename === undefined ? part.mediaType : `${part.filename} (${part.mediaType})`;
  const place = isShown(part, shows) ? 'it follows in the next message' : 'this model cannot read it here';
  return { type: 'text', text: `[A file: ${name}; ${place}.]` };
}

function isShown({ mediaType }: ResultFile, shows: boolean): boolean {
  return shows && mediaType.startsWith('image');
}

function pictureOf({ data, mediaType, filename }: ResultFile): LanguageModelV4FilePart {
  return { type: 'file', data, mediaType, ...(filename !== undefined && { filename }) };
}
