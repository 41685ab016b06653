import net from 'node:net'
import { test } from 'node:test'

/** For test/run.large.test.ts: all tests end, and a server stays open. */
test('ends', () => {})
net.createServer().listen(0, '127.0.0.1')
