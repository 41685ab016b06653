import { type KeyboardEvent, type MouseEvent, useId, useState } from 'react'

/**
 * The keys of a list below a search: the arrow keys go through its options, in a circle, and Enter picks one. The search keeps the
 * focus, and names the active option for screen readers.
 * @param options as they are listed now
 * @param onEnter called with the active option; with `undefined` if none is active
 */
export function useListKeys<Option>(
  options: readonly Option[],
  onEnter: (active: Option | undefined) => void,
): {
  /** Attributes of the search. */
  readonly search: {
    readonly role: 'combobox'
    readonly 'aria-autocomplete': 'list'
    readonly 'aria-expanded': boolean
    readonly 'aria-controls': string
    readonly 'aria-activedescendant': string | undefined
    readonly onKeyDown: (event: KeyboardEvent) => void
  }
  readonly listId: string
  /** Attributes of the element at an index, whose role is `option`. */
  readonly optionAt: (at: number) => {
    readonly id: string
    readonly 'data-active': true | undefined
    readonly onMouseDown: (event: MouseEvent) => void
  }
  /** The index of the active option; -1 if none is active. */
  readonly active: number
  /** No option is active any more. To be called when the search changes. */
  readonly reset: () => void
} {
  const listId = useId()
  const [active, setActive] = useState(-1)
  const idOf = (at: number) => `${listId}-${at}`
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && options.length > 0) {
      event.preventDefault()
      const from = active === -1 && step === -1 ? 0 : active
      const next = (from + step + options.length) % options.length
      setActive(next)
      document.getElementById(idOf(next))?.scrollIntoView({ block: 'nearest' })
    }
    if (event.key !== 'Enter') return
    event.preventDefault()
    onEnter(options[active])
  }
  return {
    listId,
    search: {
      role: 'combobox',
      'aria-autocomplete': 'list',
      'aria-expanded': options.length > 0,
      'aria-controls': listId,
      'aria-activedescendant': active >= 0 && active < options.length ? idOf(active) : undefined,
      onKeyDown: press,
    },
    optionAt: (at) => ({
      id: idOf(at),
      'data-active': at === active || undefined,
      onMouseDown: (event) => event.preventDefault(),
    }),
    active,
    reset: () => setActive(-1),
  }
}
