import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectors } from '@penstock/connectors'
import { audiences } from './people/audiences.ts'
import { comparePeople } from './people/compare.ts'
import { conversions } from './people/conversions.ts'

/** One file of 10,000 people through every connector of conversions and other events. */
comparePeople(conversions)

test('every destination that says what it takes of a person is looked at', () => {
  const seen = new Set([...audiences, ...conversions].map(({ slug }) => slug))
  // Campaigns have no columns of a person. Lookups are tested with the values that their platforms publish.
  const others = ['campaign posting', 'identity management', 'transcoding']
  const moving = connectors.filter(
    ({ dataType, destination }) => destination?.deliver && destination.records && !others.includes(dataType),
  )
  assert.ok(moving.length > 30)
  assert.deepEqual(
    moving.map(({ slug }) => slug).filter((slug) => !seen.has(slug)),
    [],
  )
})
