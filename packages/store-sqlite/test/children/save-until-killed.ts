// Saves session "victim" repeatedly, and prints each acknowledged version.
import { newSession, withFact } from '@holdfast/conformance';
import { openChildStore, say } from './child-store.ts';

const store = await openChildStore();
let session = await store.create(newSession('victim'));
for (;;) {
  session = await store.save(withFact(session, 'text', `${session.version} `.repeat(2_000)), {
    base: session,
  });
  say(session.version);
}
