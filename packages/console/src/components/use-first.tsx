import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { components as say } from '../strings/components.ts'
import { count } from './numbers.ts'

/** The first ones of a list, and a button that shows the others; nothing if these are all. */
export function useFirst<T>(
  all: readonly T[],
  max: number,
): { readonly shown: readonly T[]; readonly more: ReactNode } {
  const [isWhole, setWhole] = useState(false)
  const rest = all.length - max
  if (isWhole || rest <= 0) return { shown: all, more: null }
  const more = (
    <Button
      size="compact-xs"
      variant="subtle"
      w="fit-content"
      onClick={(event) => {
        // A row around it may be a link, or opens something.
        event.stopPropagation()
        setWhole(true)
      }}
    >
      {say.showMore(count(rest))}
    </Button>
  )
  return { shown: all.slice(0, max), more }
}
