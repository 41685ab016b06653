import { basePath } from '@penstock/wire'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse } from '../refusal.ts'
import { METHODS } from './node-http.ts'

/** Every method that Node can parse. CONNECT never becomes a request. */
const everyMethod = METHODS.filter((method) => method !== 'CONNECT')

/**
 * Answers every other method of a path with 405. Methods that no operation has share one route that looks for the path: a route
 * for each of them and each path would take most of the processor time of a start.
 */
export function refuseOtherMethods(app: FastifyInstance, methods: ReadonlyMap<string, readonly string[]>): void {
  for (const method of everyMethod) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const ofOperations = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']
  const paths = [...methods].map(([url, allowed]) => {
    const allow = ofOperations.filter((method) => allowed.includes(method)).join(', ')
    // Before the body is read: whatever it is, the method is wrong.
    const refuseMethod = async (_: FastifyRequest, reply: FastifyReply) => {
      reply.header('allow', allow)
      refuse('method_not_allowed')
    }
    const others = ofOperations.filter((method) => !allowed.includes(method))
    app.route({ method: others, url, exposeHeadRoute: false, onRequest: refuseMethod, handler: refuseMethod })
    return { url, pattern: new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`), refuseMethod }
  })
  // /connectors/added is not /connectors/{id}.
  paths.sort((a, b) => a.url.split(':').length - b.url.split(':').length)
  const refuseOther = async (request: FastifyRequest<{ Params: { '*': string } }>, reply: FastifyReply) => {
    const path = `${basePath}/${request.params['*']}`
    const known = paths.find(({ pattern }) => pattern.test(path)) ?? refuse('not_found')
    await known.refuseMethod(request, reply)
  }
  app.route({
    method: everyMethod.filter((method) => !ofOperations.includes(method)),
    url: `${basePath}/*`,
    onRequest: refuseOther,
    handler: refuseOther,
  })
}
