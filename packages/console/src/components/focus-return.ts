import { useEffect } from 'react'

/** A place that had the focus, and whether it is in a dialog or a menu. */
type Visited = { readonly element: HTMLElement; readonly above: boolean }

const visitedMax = 30

/**
 * Gives the focus back to the control that opened a dialog or a menu once that is gone, also if it was removed as a whole. If
 * the control is gone as well, such as the row that was deleted, the content of the page gets the focus.
 */
export function useFocusReturn(): void {
  useEffect(() => {
    let visited: readonly Visited[] = []
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return
      const above = target.closest('[role="dialog"], [role="menu"]') !== null
      visited = [...visited.filter(({ element }) => element !== target), { element: target, above }].slice(-visitedMax)
    }
    const giveBack = () => {
      if (document.activeElement !== document.body) return
      const last = visited.at(-1)
      if (!last?.above || last.element.isConnected) return
      visited = visited.filter(({ element, above }) => !above || element.isConnected)
      const opener = visited.at(-1)?.element
      const next = opener?.isConnected ? opener : document.getElementById('content')
      next?.focus({ preventScroll: true })
    }
    const removals = new MutationObserver(giveBack)
    removals.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', note)
    return () => {
      removals.disconnect()
      document.removeEventListener('focusin', note)
    }
  }, [])
}

const fields =
  'input:not([type="hidden"]):not(:disabled), textarea:not(:disabled), select:not(:disabled), [role="combobox"]'

/** Gives the focus to the first field of a form in a dialog, unless the form names another one with `data-autofocus`. */
export function useFirstField(form: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const dialog = form.current?.closest('[role="dialog"]')
    if (!dialog || dialog.querySelector('[data-autofocus]')) return
    const first = form.current?.querySelector<HTMLElement>(`input[type="radio"]:checked, ${fields}`)
    if (!first) return
    // A dialog that opens looks for it; one that is open already, in which the form comes later, has the focus at its cross.
    first.dataset.autofocus = 'true'
    const { activeElement } = document
    if (dialog === activeElement || (dialog.contains(activeElement) && activeElement instanceof HTMLButtonElement)) {
      first.focus()
    }
  }, [form])
}
