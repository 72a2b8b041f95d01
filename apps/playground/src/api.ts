import type { ServerResponse } from 'node:http';
import { approve, deny, pendingApprovals, resume, sendMessage } from '@holdfast/core';
import type { SessionAction } from '@holdfast/core';
import { pipeUIMessageStreamToResponse } from 'ai';
import { approvalIdOf } from './approval-id.ts';
import { definition } from './agent.ts';
import { HttpError, isRecord, sendJson } from './http.ts';
import type { LiveRun } from './live-run.ts';
import type { Playground } from './playground.ts';
import type { Runs } from './runs.ts';
import { toSessionSummary, toSessionView, toUnreadableSummary } from './session-view.ts';
import { toUiMessages } from './ui-messages.ts';

/** The parts that the handlers use. */
export interface ApiParts {
  readonly playground: Playground;
  readonly runs: Runs;
}

/** The parts of one request. */
interface ApiRequest {
  readonly sessionId: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly response: ServerResponse;
}

/** Serves one kind of request. */
export type Handler = (parts: ApiParts, request: ApiRequest) => Promise<void>;

/** The handlers, by method and path; `:id` is a session. */
export const handlers: Readonly<Record<string, Handler>> = {
  'GET /api/model': showModel,
  'GET /api/sessions': listSessions,
  'POST /api/sessions': createSession,
  'GET /api/sessions/:id': showSession,
  'DELETE /api/sessions/:id': deleteSession,
  'GET /api/sessions/:id/raw': showRaw,
  'POST /api/sessions/:id/fork': forkSession,
  'POST /api/sessions/:id/chat': chat,
  'POST /api/sessions/:id/resume': resumeSession,
  'POST /api/sessions/:id/decide': decide,
  'GET /api/sessions/:id/stream': followRun,
  'POST /api/sessions/:id/stop': stopRun,
};

async function showModel({ playground: { model } }: ApiParts, { response }: ApiRequest): Promise<void> {
  sendJson(response, { label: model.label, isOffline: model.isOffline });
}

async function listSessions(
  { playground: { runtime }, runs }: ApiParts,
  { response }: ApiRequest,
): Promise<void> {
  const { sessions } = await runtime.list({ order: 'lastActiveAt', limit: 100 });
  const summaries = await Promise.all(
    sessions.map(async (info) => {
      try {
        const session = await runtime.store.load(info.sessionId);
        return session && toSessionSummary(session, runs.has(info.sessionId));
      } catch {
        // An unreadable session must not hide the others; its screen shows the error.
        return toUnreadableSummary(info);
      }
    }),
  );
  sendJson(response, { sessions: summaries.filter((summary) => summary !== undefined) });
}

async function createSession({ playground }: ApiParts, { response }: ApiRequest): Promise<void> {
  sendJson(response, toSessionView(await playground.runtime.create({ definition }), false), 201);
}

async function showSession(
  { playground, runs }: ApiParts,
  { sessionId, response }: ApiRequest,
): Promise<void> {
  const session = await playground.runtime.get(sessionId);
  sendJson(response, {
    session: toSessionView(session, runs.has(sessionId)),
    messages: toUiMessages(session.state, { isRunning: runs.has(sessionId) }),
  });
}

async function showRaw({ playground }: ApiParts, { sessionId, response }: ApiRequest): Promise<void> {
  sendJson(response, await playground.runtime.get(sessionId));
}

async function deleteSession(
  { playground, runs }: ApiParts,
  { sessionId, response }: ApiRequest,
): Promise<void> {
  if (runs.has(sessionId)) throw new HttpError(409, 'This session has a run in progress. Stop it first.');
  if (!(await playground.runtime.delete(sessionId)))
    throw new HttpError(404, `Unknown session "${sessionId}".`);
  sendJson(response, { deleted: sessionId });
}

async function forkSession({ playground }: ApiParts, { sessionId, response }: ApiRequest): Promise<void> {
  sendJson(response, toSessionView(await playground.runtime.fork(sessionId), false), 201);
}

async function chat(parts: ApiParts, { sessionId, body, response }: ApiRequest): Promise<void> {
  await startRun(parts, sessionId, sendMessage(textIn(body['message'])), response);
}

async function resumeSession(parts: ApiParts, { sessionId, response }: ApiRequest): Promise<void> {
  const { state } = await parts.playground.runtime.get(sessionId);
  const isIdle = !state.hasActiveExecution && !parts.runs.has(sessionId);
  if (isIdle) throw new HttpError(409, 'This session has no unfinished run.');
  await startRun(parts, sessionId, resume(), response);
}

/** Approves or denies a waiting call, and streams the run that follows. */
async function decide(parts: ApiParts, { sessionId, body, response }: ApiRequest): Promise<void> {
  const { approvalId, approved } = body;
  if (typeof approvalId !== 'string' || typeof approved !== 'boolean')
    throw new HttpError(400, 'The body needs an "approvalId", and "approved": true or false.');
  const { state } = await parts.playground.runtime.get(sessionId);
  const call = pendingApprovals(state).find((pending) => approvalIdOf(pending) === approvalId);
  if (call === undefined)
    throw new HttpError(409, 'This call does not wait for this approval. Reload the page.');
  await startRun(parts, sessionId, (approved ? approve : deny)(call), response);
}

async function startRun(
  { playground, runs }: ApiParts,
  sessionId: string,
  action: SessionAction,
  response: ServerResponse,
): Promise<void> {
  const run = await runs.start(playground.runtime, sessionId, action);
  await streamRun(run, response, { skipEarlier: true });
}

async function followRun({ runs }: ApiParts, { sessionId, response }: ApiRequest): Promise<void> {
  const run = runs.of(sessionId);
  if (run) return streamRun(run, response);
  response.writeHead(204).end();
}

/** Streams a run until the reader leaves. */
function streamRun(
  run: LiveRun,
  response: ServerResponse,
  options?: { readonly skipEarlier: boolean },
): Promise<void> {
  const headers = { 'cache-control': 'no-store' };
  return pipeUIMessageStreamToResponse({ response, stream: run.follow(options), headers });
}

async function stopRun({ runs }: ApiParts, { sessionId, response }: ApiRequest): Promise<void> {
  sendJson(response, { stopped: await runs.stop(sessionId) });
}

const longestMessage = 20_000;

/** The text of a message as `useChat` sends it. @throws HttpError 400. */
function textIn(message: unknown): string {
  const parts = isRecord(message) && message['role'] === 'user' ? message['parts'] : undefined;
  if (!Array.isArray(parts)) throw new HttpError(400, 'The body needs a "message" of the user with "parts".');
  const texts = parts.map((part: unknown) =>
    isRecord(part) && part['type'] === 'text' ? part['text'] : undefined,
  );
  if (!texts.every((text) => typeof text === 'string'))
    throw new HttpError(400, 'The message has a part that is not text. Send only text.');
  const text = texts.join('\n').trim();
  if (text === '') throw new HttpError(400, 'The message is empty.');
  if (text.length <= longestMessage) return text;
  throw new HttpError(
    400,
    `The message has ${text.length} characters; at most ${longestMessage} are allowed.`,
  );
}
