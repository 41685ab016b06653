import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { commandsOn } from './harness/commands.ts'
import { createTestDatabase } from './harness/database.ts'
import { prepareStage } from './harness/process.ts'
import { withSession } from './harness/session.ts'

/** `penstock audit`: verifies and prints the audit log, in which the commands of the operator are. */

type Log = { organizationId: string; events: number; number: number; hash: string; tampering: { kind: string } | null }

test('penstock audit verifies the log and prints it', async (t) => {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  const key = randomBytes(32).toString('base64')
  const commands = commandsOn(await prepareStage(t), { DATABASE_URL: url, PENSTOCK_MASTER_KEY: key })
  assert.match(await commands.done('audit', 'verify'), /^There is no audit log yet\.$/m)
  const create = ['org', 'create', '--name', 'Acme', '--owner-email', 'owner@example.com']
  const { organizationId, clientSecret } = await commands.json<Record<string, string>>(...create)
  assert(organizationId && clientSecret)
  const of = ['--organization', organizationId]
  const { clientId = '' } = await commands.json<Record<string, string>>('client', 'create', ...of)
  await commands.done('client', 'rename', clientId, 'Renamed')
  const rotated = await commands.json<Record<string, string>>('client', 'rotate', clientId)
  await commands.done('client', 'revoke', clientId)
  await commands.done('schedules', 'pause')
  const invited = await commands.json<Record<string, string>>('user', 'invite', ...of, '--email', 'ada@example.com')
  await commands.done('user', 'remove-passkeys', invited.userId ?? '')
  await commands.done('user', 'remove', invited.userId ?? '')

  const printed = await commands.done('audit', 'export')
  const lines = printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const events = lines.filter(({ end }) => end === undefined)
  const ends = lines.filter(({ end }) => end !== undefined)
  // After the events of each log, its end with the seal.
  for (const { organizationId: id, end } of ends) {
    const last = events.findLast((event) => event.organizationId === id)
    assert.deepEqual([end.number, end.hash], [last.number, last.hash])
    assert.match(end.seal, /^[0-9a-f]{64}$/)
  }
  assert.equal(ends.length, 2)
  const actions = [
    'org create',
    'client create',
    'client rename',
    'client rotate',
    'client revoke',
    'schedules pause',
    'user invite',
    'user remove-passkeys',
    'user remove',
  ]
  assert.deepEqual(events.map(({ action }) => action).sort(), actions.toSorted())
  for (const { actor, content, hash } of events) {
    assert.equal(actor.kind, 'operator')
    assert.equal(createHash('sha256').update(content).digest('hex'), hash)
  }
  const renamed = events.find(({ action }) => action === 'client rename')
  assert.deepEqual([renamed.before, renamed.after, renamed.targetId], [{ name: null }, { name: 'Renamed' }, clientId])
  for (const secret of [clientSecret, rotated.clientSecret ?? '', 'psi_']) assert(!printed.includes(secret))

  const logs = await commands.json<Log[]>('audit', 'verify')
  assert.deepEqual(
    logs.map((log) => [log.organizationId, log.events, log.tampering]).sort(),
    [
      [organizationId, 8, null],
      ['deployment', 1, null],
    ].sort(),
  )
  const { number, hash } = logs.find((log) => log.organizationId === organizationId) ?? {}
  const expect = ['--expect', `${number}:${hash}`]
  assert.match(await commands.done('audit', 'verify', ...of, ...expect), /8 events verified/)
  assert.match(await commands.fails(2, 'audit', 'verify', ...expect), /--expect needs --organization/)
  assert.match((await commands.run('audit', 'verify', ...of, '--expect', '5')).stderr, /number and a hash/)
  assert.match(
    await commands.fails(1, 'audit', 'verify', '--organization', 'unknown'),
    /The audit log of unknown does not exist/,
  )

  await withSession(url, (session) =>
    session.query(`update audit_events set actor_name = 'Mallory' where action = 'client revoke'`),
  )
  const found = await commands.run('audit', 'verify')
  assert.equal(found.code, 1)
  assert.match(found.stdout, new RegExp(`^${organizationId}  TAMPERED WITH \\(changed\\): Event 5 was changed`, 'm'))
  assert.match(found.stdout, /^deployment {2}1 events verified/m)
})
