/** A receiver that accepts all events, in a separate process. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(204).end())
}).listen(0, '127.0.0.1')
await once(server, 'listening')
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
