import { audiences } from './people/audiences.ts'
import { comparePeople } from './people/compare.ts'

/** One file of 10,000 people through every connector of an audience. */
comparePeople(audiences)
