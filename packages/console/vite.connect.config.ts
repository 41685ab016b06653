import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compress, target, withoutSchemas } from './vite.config.ts'

/** The page of connect links: built apart, so that customers load nothing of the console. */
export default defineConfig({
  base: './',
  plugins: [react(), withoutSchemas(), compress()],
  build: { ...target, outDir: 'dist/connect', rolldownOptions: { input: 'connect.html' } },
})
