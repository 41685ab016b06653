// In the page of the reference, before Scalar: its theme from the first paint, and names and roles that Scalar leaves out.

const isDark = matchMedia('(prefers-color-scheme: dark)').matches
document.body.classList.add(isDark ? 'dark-mode' : 'light-mode')

const repairs = {
  // Each operation has one, all of the same name: too many for landmarks.
  '.response-card[role="region"]': (card) => card.setAttribute('role', 'group'),
  '.show-more[aria-label^="Show all"]': (button) =>
    button.setAttribute('aria-label', `${button.textContent.trim()}: ${button.getAttribute('aria-label')}`),
  // The header on narrow screens.
  'div:has(> header):not([role])': (place) => {
    place.setAttribute('role', 'region')
    place.setAttribute('aria-label', 'Current section')
  },
}

const reference = document.querySelector('#reference')
new MutationObserver(() => {
  for (const [selector, repair] of Object.entries(repairs)) reference.querySelectorAll(selector).forEach(repair)
}).observe(reference, { childList: true, subtree: true })
