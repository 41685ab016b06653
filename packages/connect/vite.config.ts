import { defineConfig } from 'vite'

/** Modern syntax as it is, so that both files stay small. */
export default defineConfig({
  build: {
    target: 'es2022',
    minify: 'oxc',
    reportCompressedSize: false,
    lib: {
      entry: 'src/index.ts',
      name: 'PenstockConnect',
      formats: ['es', 'iife'],
      fileName: (format) => (format === 'es' ? 'connect.js' : 'connect.global.js'),
    },
  },
})
