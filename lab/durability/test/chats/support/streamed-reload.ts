import type { ChatPage } from './chat-page.ts';
import type { ChatWorld } from './chat-world.ts';

/** Sends a message, reloads the page while the response streams, and waits for the rest of the response. */
export async function reloadDuringText(world: ChatWorld, page: ChatPage): Promise<void> {
  await page.send('Take [a]the [b]train.');
  await world.reaches('a');
  if (world.hasDeltas) await page.showsText('Take ');
  await page.reload();
  if (world.hasDeltas) await page.showsText('Take ');
  world.gates.open('a');
  await world.reaches('b');
  if (world.hasDeltas) await page.showsText('Take the ');
  world.gates.open('b');
  await world.endsOn(page);
}
