import type { RecordedRequest } from '../server.ts';
import type { Wire } from '../wire.ts';
import { anthropicWire } from '../wires/anthropic.ts';
import { bedrockWire } from '../wires/bedrock.ts';
import { compatibleChatWire } from '../wires/chat-dialects.ts';
import { cohereWire } from '../wires/cohere.ts';
import { gatewayWire } from '../wires/gateway.ts';
import { googleWire } from '../wires/google.ts';
import { ollamaWire } from '../wires/ollama.ts';
import { outputOf, responsesWire } from '../wires/responses.ts';
import type { StrictWire } from './profile.ts';
import { readAnthropic } from './readers/anthropic.ts';
import { readBedrock } from './readers/bedrock.ts';
import { readChat } from './readers/chat.ts';
import { readGateway } from './readers/gateway.ts';
import { readGoogle } from './readers/google.ts';
import { readCohere, readOllama } from './readers/local.ts';
import { readResponses } from './readers/responses.ts';
import {
  anthropicError,
  bedrockError,
  cohereError,
  googleError,
  ollamaError,
  openAiError,
  type ErrorForm,
} from './refusal.ts';
import { membersOf } from './view.ts';

function asksForStream({ body }: RecordedRequest): boolean {
  return membersOf(body)['stream'] === true;
}

/** Chat Completions in a dialect. */
export function chatStrict(write: Wire = compatibleChatWire, refuse: ErrorForm = openAiError): StrictWire {
  return {
    name: 'Chat Completions',
    read: readChat,
    write,
    refuse,
    paths: 'brackets',
    isStreamed: asksForStream,
  };
}

export const responsesStrict: StrictWire = {
  name: 'Responses',
  read: readResponses,
  write: responsesWire,
  refuse: openAiError,
  paths: 'brackets',
  isStreamed: asksForStream,
  itemsOf: outputOf,
};

export const anthropicStrict: StrictWire = {
  name: 'Messages',
  read: readAnthropic,
  write: anthropicWire,
  refuse: anthropicError,
  paths: 'dots',
  isStreamed: asksForStream,
};

export const googleStrict: StrictWire = {
  name: 'generateContent',
  read: readGoogle,
  write: googleWire,
  refuse: googleError,
  paths: 'brackets',
  isStreamed: ({ path }) => path.includes(':streamGenerateContent'),
};

export const bedrockStrict: StrictWire = {
  name: 'Converse',
  read: readBedrock,
  write: bedrockWire,
  refuse: bedrockError,
  paths: 'dots',
  isStreamed: ({ path }) => path.endsWith('/converse-stream'),
};

export const cohereStrict: StrictWire = {
  name: 'Cohere',
  read: readCohere,
  write: cohereWire,
  refuse: cohereError,
  paths: 'brackets',
  isStreamed: asksForStream,
};

export const ollamaStrict: StrictWire = {
  name: 'Ollama',
  read: readOllama,
  write: ollamaWire,
  refuse: ollamaError,
  paths: 'brackets',
  isStreamed: ({ body }) => membersOf(body)['stream'] !== false,
};

export const gatewayStrict: StrictWire = {
  name: 'Gateway',
  read: readGateway,
  write: gatewayWire,
  refuse: openAiError,
  paths: 'dots',
  isStreamed: ({ headers }) => headers['ai-language-model-streaming'] === 'true',
};
