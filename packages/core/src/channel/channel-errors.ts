import { HoldfastError } from '../errors.ts';

/** The transport of a session channel did not reply or refused the request, or the channel is closed. */
export class ChannelUnavailableError extends HoldfastError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('CHANNEL_UNAVAILABLE', message, options);
  }
}

/** The error of a call after `close`. */
export function channelClosed(): ChannelUnavailableError {
  return new ChannelUnavailableError('The session channel is closed. Create another one.');
}
