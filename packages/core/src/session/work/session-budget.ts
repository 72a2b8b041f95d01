import { stopSignal, type StopSignal } from '../../state/execution/continuation.ts';
import type { Hook } from '../../loop/hooks/hook.ts';

/** Returns guards of what the budget of a session has left. Their stops say so. */
export function sessionGuards(guards: readonly Hook[]): readonly Hook[] {
  return guards.map((hook) =>
    Object.freeze<Hook>({
      ...hook,
      async checkLimit(state, context) {
        const signal = await hook.checkLimit?.(state, context);
        return signal ? ofSession(signal) : undefined;
      },
      stepDeadline(state, context) {
        const found = hook.stepDeadline?.(state, context);
        return found && { ...found, signal: ofSession(found.signal) };
      },
    }),
  );
}

function ofSession(signal: StopSignal): StopSignal {
  return stopSignal({ ...signal, message: `${signal.message} The budget of the session allows no more.` });
}
