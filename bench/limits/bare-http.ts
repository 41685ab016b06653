/** The limit of an answer that needs no database: Node's own HTTP server, which sends the bytes of a file. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { ANSWER, PORT } = process.env
const answer = readFileSync(ANSWER ?? '')
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length }

createServer((_, response) => response.writeHead(200, headers).end(answer)).listen(Number(PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
