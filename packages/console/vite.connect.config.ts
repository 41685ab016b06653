import { type Operation, operations } from '@penstock/wire'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress, target, withoutSchemas } from './vite.config.ts'

/** The operations that the service lets the page call. */
const called = Object.fromEntries(
  Object.entries<Operation>(operations).filter(
    ([, { onConnectPage, path }]) => onConnectPage || path.startsWith('/connect-page/'),
  ),
)

/** The page of connect links: built apart, so that customers load nothing of the console. */
export default defineConfig({
  base: './',
  plugins: [react(), withoutSchemas(called), compress()],
  build: { ...target, outDir: 'dist/connect', rolldownOptions: { input: 'connect.html' } },
})
