import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { UIMessage } from 'ai';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SessionView } from '../session-view.ts';
import type { Decide } from './approval-buttons.tsx';
import { ConnectionError, errorIn, fetchSession, sessionPath, stopRun } from './api.ts';
import type { SessionDetails } from './api.ts';

/** A session as the page works with it. */
export interface SessionChat {
  readonly view: SessionView;
  readonly messages: UIMessage[];
  readonly isRunning: boolean;
  /** The error message for the user. */
  readonly notice: string | undefined;
  readonly isConnected: boolean;
  readonly send: (text: string) => void;
  /** Resumes an unfinished run. */
  readonly resume: () => void;
  /** Approves or denies a call that waits for approval. */
  readonly decide: Decide;
  readonly stop: () => void;
  readonly dismiss: () => void;
}

const retryMilliseconds = 700;

/** The chat and the state of one session: both come in the same stream, or again from the server after a failure. */
export function useSessionChat(initial: SessionDetails, firstMessage: string | undefined): SessionChat {
  const { sessionId } = initial.session;
  const [view, setView] = useState(initial.session);
  const [notice, setNotice] = useState<string>();
  const [isConnected, setConnected] = useState(true);
  const latest = useRef(initial.session);
  const recover = useRef<() => Promise<void>>(async () => undefined);
  const chat = useChat({
    id: sessionId,
    messages: initial.messages,
    transport: useMemo(() => transportOf(sessionId), [sessionId]),
    resume: initial.session.isRunning,
    throttle: 30,
    onData: (part) => {
      if (part.type === 'data-state') setView((latest.current = part.data as SessionView));
    },
    onFinish: ({ isError, isDisconnect }) => {
      // A stream that ends before its run did: the server is shutting down.
      const { isRunning, executionStatus } = latest.current;
      // A run that waits for approval may have received a message, which stands before the call.
      if (!isError && !isDisconnect && (isRunning || executionStatus === 'suspended')) void recover.current();
    },
    onError: (error) => {
      setNotice(isLostConnection(error) ? undefined : errorIn(error.message));
      void recover.current();
    },
  });
  const { setMessages, clearError, resumeStream } = chat;
  const isMounted = useMounted();

  recover.current = useCallback(async () => {
    const details = await untilAnswered(sessionId, () => isMounted.current, setConnected);
    if (!details) return;
    setView((latest.current = details.session));
    setMessages(details.messages);
    clearError();
    if (details.session.isRunning) await resumeStream();
  }, [sessionId, setMessages, clearError, resumeStream, isMounted]);

  // Another page, or the terminal, may have changed the session.
  const isIdle = chat.status === 'ready' && !view.isRunning;
  useFocus(() => void (isIdle && recover.current()));

  // Before its first piece has come, the server may not know of the run yet: a stop waits for that.
  const isStopDue = useRef(false);
  const stop = useCallback(() => {
    isStopDue.current = false;
    stopRun(sessionId).catch((error: Error) => setNotice(error.message));
  }, [sessionId]);
  useEffect(() => {
    if (isStopDue.current && chat.status === 'streaming') stop();
  }, [chat.status, stop]);

  const send = (text: string) => {
    isStopDue.current = false;
    setNotice(undefined);
    void chat.sendMessage({ text });
  };
  useOnce(firstMessage !== undefined, () => send(firstMessage ?? ''));
  return {
    view,
    messages: chat.messages,
    isRunning: chat.status === 'submitted' || chat.status === 'streaming' || view.isRunning,
    notice,
    isConnected,
    send,
    resume: () => {
      setNotice(undefined);
      void chat.sendMessage(undefined, { body: { resume: true } });
    },
    decide: (approvalId, approved) => {
      setNotice(undefined);
      void chat.sendMessage(undefined, { body: { decide: { approvalId, approved } } });
    },
    stop: () => {
      if (chat.status === 'submitted') isStopDue.current = true;
      else stop();
    },
    dismiss: () => setNotice(undefined),
  };
}

function transportOf(sessionId: string): DefaultChatTransport<UIMessage> {
  const path = sessionPath(sessionId);
  return new DefaultChatTransport({
    api: `${path}/chat`,
    prepareSendMessagesRequest: ({ messages, body }) => {
      if (body?.['resume'] === true) return { api: `${path}/resume`, body: {} };
      const decision: object | undefined = body?.['decide'];
      return decision ? { api: `${path}/decide`, body: decision } : { body: { message: messages.at(-1) } };
    },
    prepareReconnectToStreamRequest: () => ({ api: `${path}/stream` }),
  });
}

/** Requests the session until the server answers or the signal aborts. */
async function untilAnswered(
  sessionId: string,
  isWanted: () => boolean,
  setConnected: (isConnected: boolean) => void,
): Promise<SessionDetails | undefined> {
  while (isWanted()) {
    try {
      const details = await fetchSession(sessionId);
      setConnected(true);
      return details;
    } catch (error) {
      if (!(error instanceof ConnectionError)) return undefined;
      setConnected(false);
      await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
    }
  }
  return undefined;
}

function isLostConnection(error: Error): boolean {
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message);
}

function useFocus(act: () => void): void {
  useEffect(() => {
    window.addEventListener('focus', act);
    return () => window.removeEventListener('focus', act);
  });
}

function useMounted(): { readonly current: boolean } {
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => void (mounted.current = false);
  }, []);
  return mounted;
}

function useOnce(isDue: boolean, act: () => void): void {
  const isDone = useRef(false);
  useEffect(() => {
    if (!isDue || isDone.current) return;
    isDone.current = true;
    act();
  });
}
