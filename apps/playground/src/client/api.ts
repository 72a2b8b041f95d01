import type { UIMessage } from 'ai';
import type { SessionSummary, SessionView } from '../session-view.ts';

/** Which model answers. */
export interface ModelInfo {
  readonly label: string;
  readonly isOffline: boolean;
}

/** A session and its conversation. */
export interface SessionDetails {
  readonly session: SessionView;
  readonly messages: UIMessage[];
}

/** The server did not answer. */
export class ConnectionError extends Error {}

/** The server refused the request; the message has the reason. */
class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function sessionPath(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`;
}

export function fetchModel(): Promise<ModelInfo> {
  return request<ModelInfo>('GET', '/api/model');
}

export async function fetchSessions(): Promise<readonly SessionSummary[]> {
  return (await request<{ sessions: readonly SessionSummary[] }>('GET', '/api/sessions')).sessions;
}

export function fetchSession(sessionId: string): Promise<SessionDetails> {
  return request<SessionDetails>('GET', sessionPath(sessionId));
}

export function fetchRaw(sessionId: string): Promise<unknown> {
  return request('GET', `${sessionPath(sessionId)}/raw`);
}

export function createSession(): Promise<SessionView> {
  return request<SessionView>('POST', '/api/sessions');
}

export function forkSession(sessionId: string): Promise<SessionView> {
  return request<SessionView>('POST', `${sessionPath(sessionId)}/fork`);
}

export function deleteSession(sessionId: string): Promise<unknown> {
  return request('DELETE', sessionPath(sessionId));
}

export function stopRun(sessionId: string): Promise<unknown> {
  return request('POST', `${sessionPath(sessionId)}/stop`);
}

async function request<T>(method: string, path: string): Promise<T> {
  const response = await fetch(path, { method }).catch((cause: unknown) => {
    throw new ConnectionError('The server does not answer.', { cause });
  });
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, errorIn(text));
  return JSON.parse(text) as T;
}

/** The message in an answer or an error of the chat, without the JSON around it. */
export function errorIn(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const message = typeof value === 'object' && value !== null && 'error' in value ? value.error : undefined;
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
