import type { RecordedRequest } from '../../../src/server.ts';
import type { StrictProfile } from '../../../src/strict/index.ts';
import { prefixOf, type Issuer } from '../../../src/strict/issuer.ts';
import { isMembers, textOf } from '../../../src/strict/view.ts';
import { setAt, valueAt } from '../edit.ts';
import { SIGN, type Base, type BaseOptions } from './base.ts';
import { chat, cohere, ollama } from './chat.ts';
import { converse, gateway, google, messages } from './native.ts';
import { responses } from './responses.ts';

export { PDF, PNG, type BaseOptions } from './base.ts';

/** A request that the provider of a profile accepts. */
export function baseOf(profile: StrictProfile, options: BaseOptions, issuer: Issuer): RecordedRequest {
  const base = BASES[profile.wire.name];
  if (!base) throw new Error(`No base for ${profile.wire.name}.`);
  const request = {
    method: 'POST',
    path: `/models/${options.model}/model/${options.model}/x:generateContent`,
    headers: { 'ai-language-model-id': options.model },
    // Through JSON, so that no two messages share an object.
    body: JSON.parse(JSON.stringify(base(options, profile.dialects, issuer))) as unknown,
  };
  return { ...request, body: signedBody(profile, request, options, issuer) };
}

/** Replaces each placeholder by a signature for what stands before it. */
function signedBody(
  profile: StrictProfile,
  request: RecordedRequest,
  { thinking }: BaseOptions,
  issuer: Issuer,
): unknown {
  const view = profile.wire.read(request, thinking !== 'off');
  const places = view.turns.flatMap(({ parts }, turn) =>
    parts.flatMap((part, index) => {
      const place = part.at['signature'];
      return place?.value === SIGN ? [{ place, part, turn, index }] : [];
    }),
  );
  const [first] = places;
  if (!first) return request.body;
  const text = first.part.type === 'redacted' ? 'redacted' : textOf(first.part.at['text']?.value);
  const pieces = view.turns[first.turn]?.parts.filter(
    ({ type }) => type === 'reasoning' || type === 'redacted',
  );
  const answer = { id: `answer ${first.turn}`, size: pieces?.length ?? 0 };
  const signature = issuer.sign(prefixOf(view, first.turn, first.index), text, answer);
  const body = setAt(request.body, first.place.path, signature);
  return signedBody(profile, { ...request, body }, { thinking } as BaseOptions, issuer);
}

const BASES: Readonly<Record<string, Base>> = {
  'Chat Completions': chat,
  Responses: responses,
  Messages: messages,
  generateContent: google,
  Converse: converse,
  Cohere: cohere,
  Ollama: ollama,
  Gateway: gateway,
};

/** The list of messages of a request, by its path. */
export function messagesPath(body: unknown): 'messages' | 'input' | 'contents' | 'prompt' {
  const members = isMembers(body) ? body : {};
  const name = (['messages', 'input', 'contents', 'prompt'] as const).find((each) => each in members);
  if (!name || !Array.isArray(valueAt(members, [name]))) throw new Error('The body has no messages.');
  return name;
}
