/** The parts of a protocol between a client and its server that a `FaultProxy` must know. */
export interface WireProtocol {
  /**
   * Tells where a request ends. Creates the scanner of one request: a function that receives the bytes of the connection
   * from the beginning of the request, again each time more of them arrive. It returns the length of the request in
   * bytes, which may be more than have arrived, or `undefined` while the length is unknown. A scanner of long requests
   * remembers where it stopped.
   */
  readonly scanRequest: () => (data: Buffer) => number | undefined;
  /** Returns whether a request counts, and can meet a fault. By default each request does, handshakes included. */
  readonly isCounted?: ((request: Buffer) => boolean) | undefined;
  /** Refuses a request because of the load of the server. Without it, the proxy cannot throttle. */
  readonly throttle?: Refusal | undefined;
  /**
   * Returns a request whose reply contains the mark. A protocol whose client sends requests before earlier replies
   * arrive needs it: the proxy sends it after a request whose reply it loses, and breaks the connection when the mark
   * arrives. Without it, the next data of the server is the lost reply.
   */
  readonly echo?: ((mark: string) => string | Uint8Array) | undefined;
}

/** How the proxy refuses a request: by a reply of its own, or by another request that the server refuses. */
export type Refusal =
  | { readonly reply: string | Uint8Array; readonly request?: never }
  | { readonly request: string | Uint8Array; readonly reply?: never };

/** Splits the data of one connection into requests. */
export class RequestReader {
  private readonly scanRequest: WireProtocol['scanRequest'];
  /** Room for the data of the present request. Requests that were returned share no room with later ones. */
  private room: Buffer = Buffer.alloc(0);
  private length = 0;
  private scan: ReturnType<WireProtocol['scanRequest']> | undefined;

  constructor({ scanRequest }: WireProtocol) {
    this.scanRequest = scanRequest;
  }

  /** Takes data as it arrives, and returns the requests that are complete. */
  read(data: Buffer): readonly Buffer[] {
    this.append(data);
    const requests: Buffer[] = [];
    for (let request = this.next(); request; request = this.next()) requests.push(request);
    return requests;
  }

  private append(data: Buffer): void {
    const length = this.length + data.length;
    if (length > this.room.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.length));
      this.room.copy(larger, 0, 0, this.length);
      this.room = larger;
    }
    data.copy(this.room, this.length);
    this.length = length;
  }

  private next(): Buffer | undefined {
    if (this.length === 0) return undefined;
    this.scan ??= this.scanRequest();
    const length = this.scan(this.room.subarray(0, this.length));
    if (length === undefined || length > this.length) return undefined;
    if (!(length > 0)) throw new RangeError(`A request has at least one byte, found ${length}.`);
    const request = this.room.subarray(0, length);
    this.room = this.room.subarray(length, this.length);
    this.length -= length;
    this.scan = undefined;
    return request;
  }
}
