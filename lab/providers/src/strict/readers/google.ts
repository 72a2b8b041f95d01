import {
  elementsOf,
  isMembers,
  membersOf,
  partOf,
  placeOf,
  textOf,
  turnOf,
  type Members,
  type Part,
  type Path,
} from '../view.ts';
import { inlineFile, kindOf } from './files.ts';
import { modeOf, type Reader } from './reader.ts';

/** Reads the protocol of Gemini, also on Vertex AI. The address names the model. */
export const readGoogle: Reader = ({ body: parsed, path }, reasons) => {
  const body = membersOf(parsed);
  const config = membersOf(membersOf(body['toolConfig'])['functionCallingConfig']);
  return {
    body,
    model: /models\/(?<model>[^:/]+)/.exec(path)?.groups?.['model'] ?? '',
    thinking: modeOf(reasons),
    toolChoice: CHOICES[textOf(config['mode'])],
    system: contentParts(membersOf(body['systemInstruction']), ['systemInstruction']),
    tools: elementsOf(body['tools'], ['tools']).flatMap(([raw, at]) =>
      elementsOf(raw['functionDeclarations'], [...at, 'functionDeclarations']).map(toolPart),
    ),
    turns: elementsOf(body['contents'], ['contents']).map(([raw, at]) =>
      turnOf(at, ROLES[textOf(raw['role'])] ?? textOf(raw['role']), raw, contentParts(raw, at)),
    ),
  };
};

const ROLES: Readonly<Record<string, string>> = { model: 'assistant', function: 'user' };
const CHOICES: Readonly<Record<string, string>> = { AUTO: 'auto', NONE: 'none', ANY: 'required' };

function toolPart([raw, path]: readonly [raw: Members, path: Path]): Part {
  return partOf('tool', path, raw, {
    name: 'name',
    description: 'description',
    schema: raw['parametersJsonSchema'] === undefined ? 'parameters' : 'parametersJsonSchema',
    parameters: 'parameters',
  });
}

function contentParts(raw: Members, path: Path): readonly Part[] {
  return elementsOf(raw['parts'], [...path, 'parts']).flatMap(([part, at]) => dataPart(part, at));
}

function dataPart(raw: Members, path: Path): readonly Part[] {
  const { functionCall, functionResponse, inlineData, fileData } = raw;
  if (typeof raw['text'] === 'string') {
    const type = raw['thought'] === true ? 'reasoning' : 'text';
    return [partOf(type, path, raw, { text: 'text', signature: 'thoughtSignature' })];
  }
  if (isMembers(functionCall)) return [callPart(functionCall, raw, path)];
  if (isMembers(functionResponse)) return resultParts(functionResponse, raw, path);
  if (isMembers(inlineData)) return [mediaPart(inlineData, raw, [...path, 'inlineData'])];
  if (isMembers(fileData)) {
    const kind = { path, value: kindOf(fileData['mimeType']) };
    const at = [...path, 'fileData'];
    return [{ ...partOf('file', path, raw), at: { kind, url: placeOf(at, fileData, 'fileUri') } }];
  }
  const hasData = Object.keys(raw).some((name) => name !== 'thought' && name !== 'thoughtSignature');
  return [partOf(hasData ? 'other' : 'empty', path, raw, { signature: 'thoughtSignature' })];
}

function callPart(call: Members, raw: Members, path: Path): Part {
  const inner = partOf('call', [...path, 'functionCall'], call, { id: 'id', name: 'name', input: 'args' });
  const outer = partOf('call', path, raw, { signature: 'thoughtSignature' });
  return { ...outer, at: { ...inner.at, ...outer.at } };
}

function resultParts(response: Members, raw: Members, path: Path): readonly Part[] {
  const at = [...path, 'functionResponse'];
  const inner = partOf('result', at, response, { id: 'id', name: 'name', value: 'response', parts: 'parts' });
  const files = elementsOf(response['parts'], [...at, 'parts']).flatMap(([part, partPath]) =>
    dataPart(part, partPath),
  );
  return [{ ...inner, path, raw }, ...files];
}

function mediaPart(data: Members, raw: Members, at: Path): Part {
  const media = placeOf(at, data, 'mimeType');
  return inlineFile(at.slice(0, -1), raw, { kind: kindOf(media.value), media }, placeOf(at, data, 'data'));
}
