/** Runs the agents in the process of the server, from its start on. */
export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./worker.ts');
}
