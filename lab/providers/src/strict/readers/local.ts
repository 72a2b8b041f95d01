import {
  elementsOf,
  membersOf,
  partOf,
  textOf,
  turnOf,
  type Members,
  type Part,
  type Path,
  type Turn,
} from '../view.ts';
import { callParts, contentParts, functionTool, reasoningParts, resultParts, toolChoiceOf } from './chat.ts';
import { modeOf, type Reader } from './reader.ts';

/** Reads the chat protocol of Cohere, version 2. */
export const readCohere: Reader = ({ body: parsed }, reasons) =>
  readMessages(membersOf(parsed), reasons, cohereParts);

/** Reads the chat protocol of Ollama. */
export const readOllama: Reader = ({ body: parsed }, reasons) => {
  const body = membersOf(parsed);
  return readMessages(body, body['think'] === undefined ? reasons : body['think'] !== false, ollamaParts);
};

type PartsReader = (raw: Members, path: Path) => readonly Part[];

function readMessages(body: Members, reasons: boolean, parts: PartsReader): ReturnType<Reader> {
  return {
    body,
    model: textOf(body['model']),
    thinking: modeOf(reasons),
    toolChoice: toolChoiceOf(body['tool_choice']),
    system: [],
    tools: elementsOf(body['tools'], ['tools']).map(functionTool),
    turns: elementsOf(body['messages'], ['messages']).map(([raw, path]) => turnFrom(raw, path, parts)),
  };
}

function turnFrom(raw: Members, path: Path, parts: PartsReader): Turn {
  const role = textOf(raw['role']);
  return turnOf(path, role, raw, role === 'tool' ? resultParts(raw, path) : parts(raw, path));
}

function cohereParts(raw: Members, path: Path): readonly Part[] {
  return [...contentParts(raw, path), ...callParts(raw, path)];
}

function ollamaParts(raw: Members, path: Path): readonly Part[] {
  const images = Array.isArray(raw['images']) ? raw['images'] : [];
  return [
    ...reasoningParts(raw, path),
    ...contentParts(raw, path),
    ...images.map((value: unknown, index): Part => {
      const at = [...path, 'images', index];
      return {
        ...partOf('file', at, {}),
        at: { kind: { path: at, value: 'image' }, data: { path: at, value } },
      };
    }),
    ...callParts(raw, path),
  ];
}
