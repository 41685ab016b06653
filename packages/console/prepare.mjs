/**
 * Builds the console when the checkout is installed. `npm ci --omit=dev` leaves out what builds it: then the one that was
 * built before, or was copied here, is served. Plain JavaScript, since npm may call it with an older Node.
 */
import { copyFileSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(fileURLToPath(import.meta.url))
const vite = await import('vite').catch((error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'vite'")) return undefined
  throw error
})
if (vite) {
  await vite.build({ root, logLevel: 'warn' })
  await vite.build({ root, logLevel: 'warn', configFile: join(root, 'vite.connect.config.ts') })
  const connect = join(root, '../connect')
  await vite.build({ root: connect, logLevel: 'warn' })
  copyFileSync(join(connect, 'dist/connect.global.js'), join(root, 'dist/connect/connect.js'))
} else if (!existsSync(join(root, 'dist/index.html'))) {
  console.warn(
    'The console is not built, and what builds it is a development dependency: run npm ci without --omit=dev once, or copy packages/console/dist from another checkout. The API works without it.',
  )
}
