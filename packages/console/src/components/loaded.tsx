import { Box } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { Failure } from './failure.tsx'
import { Lines } from './lines.tsx'

const Outdated = createContext(false)

/**
 * Whether what `Loaded` shows answers the question before, while the answer to the new one is on its way: rows of another
 * page are about to be replaced, so the user cannot act on them.
 */
export const useOutdated = (): boolean => useContext(Outdated)

/** The loaded data; a skeleton before, and the error if loading fails. */
export function Loaded<T>({
  query,
  lines = 4,
  skeleton,
  quiet = false,
  children,
}: {
  query: UseQueryResult<T, Error>
  /** How many lines the skeleton has. */
  lines?: number
  skeleton?: ReactNode
  /** Keeps a failure to itself while something older can be shown: another part of the page says it. */
  quiet?: boolean
  children: (result: T) => ReactNode
}) {
  if (query.data !== undefined) {
    // Loaded data stays on the page while a newer version is not available.
    return (
      <>
        {!quiet && <NotRead query={query} />}
        <Outdated value={query.isPlaceholderData}>{children(query.data)}</Outdated>
      </>
    )
  }
  if (query.isError) return <NotRead query={query} />
  return skeleton ?? <Lines lines={lines} />
}

type Query = Pick<UseQueryResult<unknown, Error>, 'isError' | 'error' | 'refetch'>

/** Why something could not be read, and a way to try again. Nothing if it could. */
export function NotRead({ query }: { query: Query }) {
  return query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />
}

/** The same above a page that still shows what was there. */
export function NotReadAgain({ query }: { query: Query }) {
  return (
    query.isError && (
      <Box mb="lg" maw={1440} mx="auto">
        <NotRead query={query} />
      </Box>
    )
  )
}

export { Lines }
