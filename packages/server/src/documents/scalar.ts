import { fastify } from 'fastify'

/**
 * The script of Scalar. Its package hands it out only through a plugin that brings pages of its own along; so the plugin
 * is asked once, apart from our server. It is 4 MB, and only readers of the reference need it in memory.
 * The published package has it in a file: its build replaces this module.
 */
export async function loadScalarScript(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const apart = fastify()
  await apart.register(scalar, { routePrefix: '/scalar', configuration: { url: '/' } })
  const { statusCode, rawPayload } = await apart.inject('/scalar/js/scalar.js')
  await apart.close()
  if (statusCode !== 200) throw new Error(`Scalar's plugin answered ${statusCode} for its script`)
  return rawPayload
}
