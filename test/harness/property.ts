import fc from 'fast-check'
import { seed } from './seed.ts'

/** fast-check with the seed of the tests. Import it from here. */
fc.configureGlobal({ seed })

export { default } from 'fast-check'
