import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataFolder, endlessParcels, run, start } from './support/playground-process.ts';

function sessionIn(stdout: string): string {
  return /^session (\S+)$/m.exec(stdout)?.[1] ?? '';
}

describe.concurrent('the agent in the terminal', () => {
  test('uses two tools, prints the number, and recalls it in a new process', async () => {
    const data = await dataFolder();
    const first = await run(['--data', data, '--prompt', 'what is 17 * 23? remember it']);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('→ calculator {"expression":"17 * 23"}');
    expect(first.stdout).toContain('← calculator = {"expression":"17 * 23","value":391}');
    expect(first.stdout).toContain('→ notebook_write');
    expect(first.stdout).toContain('│ 17 * 23 = 391.');
    expect(first.stdout).toMatch(
      /^■ execution 1 of session \S+ completed: 3 steps, \d+ in, \d+ out, [\d.]+ s$/m,
    );
    expect(first.stdout).not.toContain('\u001B');

    const sessionId = sessionIn(first.stdout);
    const second = await run([
      '--data',
      data,
      '--session',
      sessionId,
      '--prompt',
      'what did I ask you to remember?',
    ]);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(sessionIn(second.stdout)).toBe(sessionId);
    expect(second.stdout).toContain('│ I noted: 17 * 23 = 391.');
    expect(await readFile(join(data, 'notes', '17-times-23-is-391.txt'), 'utf8')).toBe('17 * 23 = 391');
  });

  test('Ctrl-C stops the run, saves its state, and sends no parcel', async () => {
    const data = await dataFolder();
    const playground = start(['--data', data, '--prompt', 'send a book to Ann'], endlessParcels);
    await playground.printed(/→ send_parcel/);
    expect(await playground.kill('SIGINT')).toBe(130);
    expect(playground.stdout).toContain('stop: userRequested');
    expect(playground.stdout).toMatch(/^■ .* stopped \(userRequested\): 1 step/m);
    await expect(readFile(join(data, 'outbox.txt'))).rejects.toThrow('ENOENT');
    const next = await run([
      '--data',
      data,
      '--session',
      sessionIn(playground.stdout),
      '--prompt',
      'what is 2+2?',
    ]);
    expect(next).toMatchObject({ code: 0 });
    expect(next.stdout).toContain('2+2 = 4.');
  });

  test('a killed run is finished by another process', async () => {
    const data = await dataFolder();
    const playground = start(['--data', data, '--prompt', 'send a book to Ann'], endlessParcels);
    await playground.printed(/→ send_parcel/);
    expect(await playground.kill('SIGKILL')).toBe('SIGKILL');
    const sessionId = sessionIn(playground.stdout);
    const next = await run(['--data', data, '--session', sessionId]);
    expect(next).toMatchObject({ code: 0, stderr: '' });
    expect(next.stdout).toContain('Sent to Ann: book');
    const outbox = await readFile(join(data, 'outbox.txt'), 'utf8');
    expect(outbox).toMatch(/^[0-9a-f-]{36}\tbook\tto Ann\n$/);
    const again = await run(['--data', data, '--session', sessionId]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('has no unfinished run');
  });

  test('a call waits for approval, and another process approves it', async () => {
    const data = await dataFolder();
    const asked = await run(['--data', data, '--prompt', 'pay Ann 250 euros']);
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect(asked.stdout).toContain('May it pay {"to":"Ann","amount":250}?');
    const session = ['--data', data, '--session', sessionIn(asked.stdout)];
    const undecided = await run(session);
    expect([undecided.code, undecided.stderr]).toEqual([2, expect.stringContaining('--approve or --deny')]);
    const approved = await run([...session, '--approve']);
    expect(approved).toMatchObject({ code: 0, stderr: '' });
    expect(approved.stdout).toContain('Paid to Ann: 250 euros');
    const again = await run([...session, '--approve']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('does not wait for approval')]);
    expect(await readFile(join(data, 'payments.txt'), 'utf8')).toMatch(/^[0-9a-f-]{36}\t250\tto Ann\n$/);

    const refused = await run(['--data', data, '--prompt', 'pay Bob 300 euros']);
    const denied = await run(['--data', data, '--session', sessionIn(refused.stdout), '--deny']);
    expect(denied).toMatchObject({ code: 0, stderr: '' });
    expect(denied.stdout).toContain('The call of pay was denied');
  });

  test('an unknown session', async () => {
    const { code, stderr } = await run(['--data', await dataFolder(), '--session', 'nope', '--prompt', 'hi']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'Session "nope" does not exist or has expired. Check the id.\n',
    });
  });
});
