import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger, createRequestLog, type RequestLine } from './log.ts'

const line: RequestLine = {
  requestId: '0123456789abcdef',
  operation: 'listConnectors',
  method: 'GET',
  status: 200,
  durationMs: 1.25,
  clientAddress: '2001:db8::1',
  clientId: 'bench',
  organizationId: 'fedcba9876543210',
}

const withoutTime = (text: string) => text.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '"time"')

test('the line of a request is what the logger would write', () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (text) => void lines.push(text) })
  const logRequest = createRequestLog(log)
  for (const fields of [
    line,
    { ...line, clientId: 'a "client"\n\u2028 with \\ and é' },
    { ...line, clientId: undefined, organizationId: undefined, durationMs: 0, status: 401 },
  ]) {
    logRequest(fields)
    log.info(fields, 'request')
    const [ours = '', theirs = ''] = lines.splice(0).map(withoutTime)
    assert.equal(ours, theirs)
    assert.match(ours, /^\{"level":"info","time",/)
  }
})

test('a level above information has no lines of requests', () => {
  const lines: string[] = []
  const log = createLogger('warn', { write: (text) => void lines.push(text) })
  createRequestLog(log)(line)
  createRequestLog(log)(line, 'debug')
  assert.deepEqual(lines, [])
  log.warn('written')
  assert.equal(lines.length, 1)
})
