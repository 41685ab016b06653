import { useCallback } from 'react'
import { useHref, useLocation, useSearchParams } from 'react-router'

/** State of a list in the address. */
export type ListAddress = {
  /** Empty where the address does not say. */
  readonly value: (name: string) => string
  /** From 0. */
  readonly page: number
}

export function listAddressOf(parameters: URLSearchParams): ListAddress {
  const page = Number(parameters.get('page') ?? 1)
  return {
    value: (name) => parameters.get(name) ?? '',
    page: Number.isSafeInteger(page) && page > 0 ? page - 1 : 0,
  }
}

/**
 * The state of a screen is in its address, so that it can be shared, reloaded and restored with the back button. Empty
 * parts are left out. Any change except of the page goes back to the first page.
 */
export function useAddress(): ListAddress & {
  /** @param replace leaves no step behind to go back to: for what is typed letter by letter */
  change: (values: Readonly<Record<string, string>>, options?: { replace?: boolean }) => void
} {
  const [parameters, setParameters] = useSearchParams()
  const path = useHref(useLocation().pathname)
  const change = useCallback(
    (values: Readonly<Record<string, string>>, { replace = false } = {}) => {
      // A search that waited for more letters does not bring the user back from another page.
      if (window.location.pathname !== path) return
      // Two changes may come before the page is drawn again: the second one is made to what the first one left.
      const after = new URLSearchParams(window.location.search)
      if (!('page' in values)) after.delete('page')
      for (const [name, value] of Object.entries(values)) {
        if (value === '') after.delete(name)
        else after.set(name, value)
      }
      setParameters(after, { replace })
    },
    [setParameters, path],
  )
  return { ...listAddressOf(parameters), change }
}
