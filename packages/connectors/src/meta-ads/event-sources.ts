/** Kinds of place in which an event happened, as Meta names them. */
export const actionSources = [
  ...['website', 'app', 'email', 'chat', 'phone_call', 'physical_store', 'system_generated', 'business_messaging'],
  'other',
] as const
