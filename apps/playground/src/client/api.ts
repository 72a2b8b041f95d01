import type { SessionSummary } from '../view/session-summary.ts';

/** The model and the store of the server. */
export interface ServerInfo {
  readonly label: string;
  readonly isOffline: boolean;
  /** The name of the store. */
  readonly store: string;
}

export function sessionPath(sessionId: string): string {
  return `/api/sessions/${encodeURIComponent(sessionId)}`;
}

export function fetchServerInfo(): Promise<ServerInfo> {
  return request<ServerInfo>('/api/model');
}

export async function fetchSessions(): Promise<readonly SessionSummary[]> {
  return (await request<{ sessions: readonly SessionSummary[] }>('/api/sessions')).sessions;
}

/** The whole session as the store returns it. */
export function fetchRaw(sessionId: string): Promise<unknown> {
  return request(`${sessionPath(sessionId)}/raw`);
}

export function fetchMessage(sessionId: string, messageId: string): Promise<unknown> {
  return request(`${sessionPath(sessionId)}/messages/${encodeURIComponent(messageId)}`);
}

async function request<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`The server replied with status ${response.status}.`);
  return (await response.json()) as T;
}
