import { Type } from '../type.ts'
import { exactly, text } from './kinds.ts'

/** Further faults of a record that is rejected. */
export const OtherFaults = Type.Optional(
  Type.Array(
    exactly(
      {
        field: Type.Union([text('Field that caused it, if known', 'phone'), Type.Null()]),
        reason: text('Why the record was rejected', 'phone is not a phone number'),
      },
      { description: 'Fault of a record' },
    ),
    {
      description:
        'Further faults of the record, in other fields, as far as they are found before it is sent; absent if there are none',
    },
  ),
)
