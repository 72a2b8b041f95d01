/** The definition of the sessions of owners, and the terms of their claims. */
export const definition = { name: 'helper' };
export const LEASE = { workerId: 'worker', leaseSeconds: 30 };
