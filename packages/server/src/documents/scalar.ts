import { fastify } from 'fastify'

/**
 * The script of Scalar. Its package provides it only through a plugin that also serves its own pages. So the plugin is asked
 * once, in a separate server. The script has 4 MB, and is needed in memory only when someone reads the reference. In the
 * published package, the script is a file, and the build replaces this module.
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
