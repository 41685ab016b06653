import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunnerSessions } from './kept-sessions.ts'

const openSessions = () => {
  const closed: string[] = []
  const session = (name: string) => ({ name, session: { close: async () => void closed.push(name) } })
  return { closed, session }
}

test('a session is taken once, under its key', () => {
  const { session } = openSessions()
  const sessions = new RunnerSessions().of('a')
  assert.equal(sessions.take('server'), undefined)
  const kept = session('one')
  assert.equal(sessions.keep('server', kept), true)
  assert.equal(sessions.take('another server'), undefined)
  assert.equal(sessions.take('server'), kept)
  assert.equal(sessions.take('server'), undefined)
})

test('the next part of a transfer gets the sessions, and the part of another transfer does not', () => {
  const { session, closed } = openSessions()
  const runner = new RunnerSessions()
  runner.of('a').keep('server', session('one'))
  runner.wait()
  const next = runner.of('a')
  assert(next.take('server'))
  next.keep('server', session('two'))
  runner.wait()
  assert.equal(runner.of('b').take('server'), undefined)
  assert.deepEqual(closed, ['two'])
})

test('a job that has ended keeps nothing', () => {
  const { session } = openSessions()
  const runner = new RunnerSessions()
  const ended = runner.of('a')
  runner.wait()
  assert.equal(ended.keep('server', session('late')), false)
  assert.equal(runner.of('a').take('server'), undefined)
})

test('sessions that no part uses are closed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { session, closed } = openSessions()
  const runner = new RunnerSessions()
  runner.of('a').keep('server', session('one'))
  runner.wait()
  t.mock.timers.runAll()
  assert.deepEqual(closed, ['one'])
})

test('only some sessions wait', () => {
  const { session } = openSessions()
  const sessions = new RunnerSessions().of('a')
  const kept = Array.from({ length: 10 }, (_, at) => sessions.keep('server', session(String(at))))
  assert.deepEqual(kept.filter(Boolean).length, 4)
})
