/** How long tests wait for what a page must show. Only a test that fails waits so long. */
export const PATIENCE = { timeout: 300_000, interval: 5 };
