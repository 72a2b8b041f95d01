/** A server on this machine that programs talk to. */
export interface Service {
  /** Where programs find it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}
