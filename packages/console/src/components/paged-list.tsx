import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Loaded } from './loaded.tsx'
import { Pager } from './pager.tsx'

/** A list that the service gives page by page: the rows of this page and the way to the others, or `empty` where there is none. */
export function PagedList<Row>({
  query,
  lines = 6,
  empty,
  children,
}: {
  query: UseQueryResult<{ readonly reply: readonly Row[]; readonly total: number }, Error>
  /** How many lines the skeleton has. */
  lines?: number
  empty: ReactNode
  children: (rows: readonly Row[]) => ReactNode
}) {
  return (
    <Loaded query={query} lines={lines}>
      {({ reply, total }) =>
        total === 0 ? (
          empty
        ) : (
          <>
            {children(reply)}
            <Pager total={total} />
          </>
        )
      }
    </Loaded>
  )
}
